/**
 * The shapes that the engine and the views share. The engine runs in a worker (connections, MQTT, sockets) and on the
 * page (logs, live connections); views only ever see the types declared here.
 */

export type * from './connection-profile.ts';
export type * from './live-connection.ts';
export type * from './logged.ts';
