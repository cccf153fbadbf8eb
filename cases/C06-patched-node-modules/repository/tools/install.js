"use strict";
// Installs what package-lock.json names into node_modules, from the folder of packages.
const fs = require("fs");

const lock = JSON.parse(fs.readFileSync("package-lock.json", "utf8"));
for (const name of Object.keys(lock.packages)) {
    fs.cpSync(`packages/${name}`, `node_modules/${name}`, { recursive: true });
}
