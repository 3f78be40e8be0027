import type { Log } from '@apus/broker';

const NOTHING = () => {};

/** Errors and warnings; the platform keeps what a Worker writes to its console. */
export const consoleLog: Log = {
  debug: NOTHING,
  info: NOTHING,
  warn: (event, fields) => console.warn(JSON.stringify({ level: 'warn', event, ...fields })),
  error: (event, fields) => console.error(JSON.stringify({ level: 'error', event, ...fields })),
};
