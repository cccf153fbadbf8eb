"use strict";
const expectEqual = require("expect-equal");
const { add } = require("../src/calc.js");

expectEqual(add(2, 3), 5);
expectEqual(add(7, 0), 7);
