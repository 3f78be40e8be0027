import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Systems assign no port of this range by themselves (Linux from 32,768 up, others from 49,152). So no concurrent test
 * gets such a free port before the program has it, or while the program is restarted.
 */
const PORT_MIN = 20_000;
const PORT_MAX = 32_000;
const TRIES_MAX = 100;

/**
 * A port on loopback for a program that cannot choose one by itself: it is free now, and not reserved.
 *
 * @param alsoOffset The port with this offset is in the same range and free, too.
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
