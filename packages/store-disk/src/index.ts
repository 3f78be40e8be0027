export { messageCodec } from './codec.ts';
export {
  type ComposedStores,
  composeStores,
  type StoresContext,
} from './compose-stores.ts';
export { createDiskStores, type DiskStores, type DiskStoresOptions } from './create-disk-stores.ts';
export type { DueTimer } from './due-timers.ts';
export { type EngineDirectory, openEngineDirectory } from './engine-directory.ts';
export { DataDirectoryError, DiskError } from './errors.ts';
export { GatedWriter } from './gated-writer.ts';
export type { Journal, JournalContent } from './journal.ts';
export {
  createJournaledStores,
  type JournaledStores,
  type JournaledStoresOptions,
} from './journaled-stores.ts';
export { firstNumberOf, Kind, passingSessionOf } from './keys.ts';
export { Numbers } from './numbers.ts';
export type { FindLiving, LivingConnection, Restored } from './restore.ts';
export type { Operations, Writer } from './writer.ts';
