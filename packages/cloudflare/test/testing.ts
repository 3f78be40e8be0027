/** What the suites of `test/` use of this package beside its exports. */

export { startLocal } from '../command/start-local.ts';
export { asText, fromText, type RemotePorts } from './object/remote.ts';
export {
  needsWorkerd,
  newFolder,
  startWorkerd,
  type Workerd,
  type WorkerEntry,
} from './object/start-workerd.ts';
