import type { Server } from 'node:net';
import { StartError } from './start-error.ts';

/** Connections that wait to be accepted: thousands of clients come back at once. The kernel may allow fewer. */
const BACKLOG = 4096;

/** Starts listening, or says in a sentence why that is not possible. */
export function listen(server: Server, host: string, port: number, flag = '--port'): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException): void => {
      reject(cannotListen(error, host, port, flag));
    };
    server.once('error', failed);
    server.listen({ host, port, backlog: BACKLOG }, () => {
      server.off('error', failed);
      resolve();
    });
  });
}

/** Explains why listening failed; `flag` is the flag for the port. */
export function cannotListen(
  error: NodeJS.ErrnoException,
  host: string,
  port: number,
  flag: string,
): StartError {
  return new StartError(sentence(error, host, port, flag), { cause: error });
}

function sentence(error: NodeJS.ErrnoException, host: string, port: number, flag: string): string {
  switch (error.code) {
    case 'EADDRINUSE':
      return `Port ${port} at ${host} is in use: stop the other program, or choose another port with ${flag}.`;
    case 'EACCES':
      return `Port ${port} needs privileges that this process does not have: choose one from 1024 up with ${flag}.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `This machine has no address ${host}: choose another with --host.`;
    default:
      return `Cannot listen at ${host}, port ${port}: ${error.message}`;
  }
}
