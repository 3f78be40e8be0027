#!/usr/bin/env node
// The command `apus`. npm links a command at installation only if its file exists, and the built one does not yet.
import { existsSync } from 'node:fs';

const built = new URL('dist/apus.js', import.meta.url);
if (existsSync(built)) {
  await import(built.href);
} else {
  console.error('apus: It is not built yet: `npm run build` does that, and so does `npm start`.');
  process.exitCode = 1;
}
