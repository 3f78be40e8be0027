import type { ConnectPacket, Violation } from '@apus/mqtt';
import type { Context } from '../context.ts';
import { type Link, namesOf } from '../model/link.ts';
import type { Credentials } from '../ports/index.ts';
import { maximumPacketSizeOf, refuseConnect } from '../reply.ts';

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
  refuseConnect(link, packet.protocolVersion, violation, maximumPacketSizeOf(packet));
}
