import { runCommandLine } from './run-command-line.ts';

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // `apus sub | head -n 1`: the reader has closed the pipe.
  if (error.code === 'EPIPE') process.exit(0);
  console.error(`apus: Standard output cannot be written: ${error.message}.`);
  process.exit(1);
});
// Hides the SDK's warning about Node.js from users, as `.ci/aws-sdk.mjs` does for programs of this repository.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';
// Hides the warning of Node.js 24 about `url.parse` in mqtt.js.
process.noDeprecation = true;
process.exitCode = await runCommandLine(process.argv.slice(2));
