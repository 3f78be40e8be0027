import type { ConnectPacket, Violation } from '@apus/mqtt';
import type { Context } from './context.ts';
import { PACKET_SIZE_UNLIMITED } from './limits.ts';
import { type Link, namesOf } from './link.ts';
import type { Credentials } from './ports/index.ts';
import { refuseConnect } from './reply.ts';

export function credentialsOf(link: Link, { clientId, username, password }: ConnectPacket): Credentials {
  return { clientId, username, password, peer: link.peer };
}

/** Answers CONNECT with an error, and says so in the log. */
export function refuse(context: Context, link: Link, packet: ConnectPacket, violation: Violation): void {
  context.ports.log.warn('connect-refused', {
    ...namesOf(link),
    clientId: packet.clientId,
    reasonCode: violation.reasonCode,
    reason: violation.reason,
  });
  const maximumPacketSize = packet.properties.maximumPacketSize ?? PACKET_SIZE_UNLIMITED;
  refuseConnect(link, packet.protocolVersion, violation, maximumPacketSize);
}
