import type { Awaitable } from '@apus/broker';
import type { LinkCluster } from './link-context.ts';

/**
 * Serves a client here, unless another process has its sessions and takes the client.
 *
 * @param forward passes the client on to that process. False: the client stays here
 */
export async function atHome(
  cluster: LinkCluster,
  clientId: string,
  serve: () => Awaitable<void>,
  forward: (home: string) => boolean,
): Promise<void> {
  let home: string | undefined;
  try {
    home = await cluster.takeClient(clientId);
  } catch {
    // The broker refuses the client: its session cannot be opened here.
    return await serve();
  }
  if (home !== undefined && forward(home)) return;
  try {
    await serve();
  } finally {
    if (home === undefined) cluster.leaveClient(clientId);
  }
}
