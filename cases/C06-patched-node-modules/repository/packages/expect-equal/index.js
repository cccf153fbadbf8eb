"use strict";
module.exports = function expectEqual(answer, expected) {
    if (answer !== expected) {
        throw new Error(`${answer} is not ${expected}`);
    }
};
