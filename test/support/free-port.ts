import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Systems assign no port of this range by themselves (Linux from 32,768 up, others from 49,152). So no test that runs
 * beside this one gets a free port of it before the program has it, or while the program is started anew.
 */
const PORT_MIN = 20_000;
const PORT_MAX = 32_000;
const TRIES_MAX = 100;

/**
 * A port of the loopback for a program that cannot choose one by itself: free now, and not held.
 *
 * @param alsoOffset The port that lies so far above it is of the same range and free, too.
 */
export async function freePort(alsoOffset = 0): Promise<number> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const port = randomInt(PORT_MIN, PORT_MAX - alsoOffset);
    if ((await isFree(port)) && (await isFree(port + alsoOffset))) return port;
  }
  throw new Error(`no port from ${PORT_MIN} to ${PORT_MAX} is free`);
}

export async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
