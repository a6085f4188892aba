// Plain JavaScript, because an older Node cannot read TypeScript. `npm install` brings Node 24 where npm has it.

const NEEDED = 24;

if (Number.parseInt(process.versions.node, 10) < NEEDED) {
  process.stdout.write(
    `The tests need Node ${NEEDED} or newer, and this is ${process.version}: run \`npm install\` with optional ` +
      `dependencies, or, where npm has no Node (macOS), install it from https://nodejs.org.\n0 passed, 1 failed\n`,
  );
  process.exitCode = 1;
}
