import { type ConnectPacket, isUtf8, ReasonCode, Violation, validateTopicName } from '@apus/mqtt';
import type { Context } from '../context.ts';
import { type Flow, waitFor } from '../model/flow.ts';
import type { Link } from '../model/link.ts';
import { admit } from './admit.ts';
import { beginAuthentication } from './authenticate.ts';
import { credentialsOf, refuse } from './refuse.ts';

/**
 * CONNECT (section 3.1): checks it, finds out who the client is, and admits or refuses it [MQTT-3.1.4-1]
 * [MQTT-3.1.4-2].
 */
export function* connect(context: Context, link: Link, packet: ConnectPacket): Flow<void> {
  const invalid = violationOf(context, packet);
  if (invalid !== undefined) return refuse(context, link, packet, invalid);
  const method = packet.properties.authenticationMethod;
  if (method !== undefined) return yield* beginAuthentication(context, link, packet, method);
  const identity = yield* waitFor(context.ports.authenticator.authenticate(credentialsOf(link, packet)));
  if ('refused' in identity)
    return refuse(context, link, packet, new Violation(identity.refused, identity.reason));
  yield* admit(context, link, { packet, identity, authenticationData: undefined });
}

function violationOf(context: Context, packet: ConnectPacket): Violation | undefined {
  return clientIdViolation(context, packet) ?? willViolation(context, packet);
}

function clientIdViolation({ limits }: Context, packet: ConnectPacket): Violation | undefined {
  const { clientId, protocolVersion, cleanStart } = packet;
  // The broker assigns one to a client without an identifier [MQTT-3.1.3-6]; in 3.1.1 only with Clean Session
  // [MQTT3-3.1.3-8].
  if (clientId === '' && protocolVersion < 5 && !cleanStart) {
    return new Violation(
      ReasonCode.ClientIdentifierNotValid,
      'without Clean Session a client identifier is needed',
    );
  }
  if (clientId.length > limits.clientIdLengthMax) {
    const reason = `the client identifier is longer than ${limits.clientIdLengthMax} characters`;
    return new Violation(ReasonCode.ClientIdentifierNotValid, reason);
  }
  return undefined;
}

function willViolation({ limits }: Context, { will }: ConnectPacket): Violation | undefined {
  if (will === undefined) return undefined;
  if (will.properties.payloadFormatIndicator === 1 && !isUtf8(will.payload)) {
    return new Violation(ReasonCode.PayloadFormatInvalid, 'the will payload was declared UTF-8 and is not');
  }
  if (will.payload.length > limits.willPayloadBytesMax) {
    const reason = `the will payload has more than ${limits.willPayloadBytesMax} bytes`;
    return new Violation(ReasonCode.PacketTooLarge, reason);
  }
  return validateTopicName(will.topic, limits);
}
