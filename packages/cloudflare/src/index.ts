export { admit } from './handshake.ts';
export { Hub } from './hub.ts';
export { HubObject } from './hub-object.ts';
export type { HubOptions } from './options.ts';
export type * from './platform.ts';
