/** What the suites of `test/` use of this package beside its exports. */
export { asText, fromText, type RemotePorts } from './object/remote.ts';
export { newFolder, startWorkerd, type Workerd } from './object/start-workerd.ts';
