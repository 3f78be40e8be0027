import { runCommandLine } from './run-command-line.ts';

// `apus sub | head -n 1`: the reader has closed the pipe.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});
// As `.ci/aws-sdk.mjs` does for programs of this repository: the SDK's warning is not for users.
process.env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED ??= 'true';
// So is what Node.js 24 says about `url.parse` in mqtt.js.
process.noDeprecation = true;
process.exitCode = await runCommandLine(process.argv.slice(2));
