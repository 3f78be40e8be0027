import { type AddressInfo, connect as connectSocket, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** A proxy to the broker that the test can cut. */
export interface Way {
  readonly url: string;
  /** Ends all connections. */
  cut(): void;
  /** Ends all connections, and refuses new ones until it is mended. */
  break(): void;
  mend(): void;
}

export async function cuttable(url: string): Promise<Way> {
  const { hostname, port, pathname } = new URL(url);
  const sockets = new Set<Socket>();
  let isBroken = false;
  const cut = () => {
    for (const socket of sockets) socket.destroy();
  };
  const server = createServer((near) => {
    if (isBroken) {
      near.destroy();
      return;
    }
    const far = connectSocket(Number(port), hostname);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.on('error', () => {});
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port: own } = server.address() as AddressInfo;
  return {
    url: `ws://127.0.0.1:${own}${pathname}`,
    cut,
    break: () => {
      isBroken = true;
      cut();
    },
    mend: () => {
      isBroken = false;
    },
  };
}

/** The same numbers for the same seed. */
export function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return state / 0x8000_0000;
  };
}
