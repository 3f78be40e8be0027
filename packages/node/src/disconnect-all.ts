import { CloseCode } from '@apus/door';
import { ReasonCode } from '@apus/mqtt';
import type { Links } from './links.ts';
import type { ResolvedOptions } from './options.ts';

/** Sends DISCONNECT 0x8B (MQTT 5), closes, waits for the clients to go, and cuts off those that do not. */
export async function disconnectAll(links: Links, { limits, clock }: ResolvedOptions): Promise<void> {
  for (const link of links.all()) {
    if (link.isConnected && link.isOpen) {
      link.disconnect(ReasonCode.ServerShuttingDown, 'The broker is shutting down');
    } else link.closeWith(CloseCode.GoingAway);
  }
  const cancel = clock.after(limits.shutdownTimeoutSeconds * 1000, () => {
    for (const link of links.all()) link.terminate();
  });
  await links.empty();
  cancel();
}
