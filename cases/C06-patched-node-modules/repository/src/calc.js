"use strict";
// Arithmetic for the till.
exports.add = (a, b) => a - b;
