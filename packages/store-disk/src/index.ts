export { createDiskStores, type DiskStores, type DiskStoresOptions } from './create-disk-stores.ts';
export type { DueTimer } from './due-timers.ts';
export { DataDirectoryError, DiskError } from './errors.ts';
