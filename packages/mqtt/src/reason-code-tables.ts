import type { Role } from './fixed-header.ts';
import type { PacketType } from './packets.ts';
import { ReasonCode } from './reason-codes.ts';

const ERRORS_OF_BOTH_SIDES = [0x80, 0x81, 0x82, 0x83, 0x90, 0x93, 0x94, 0x95, 0x96, 0x97, 0x98, 0x99];
const PUBLISH_OUTCOMES = new Set([0x00, 0x10, 0x80, 0x83, 0x87, 0x90, 0x91, 0x97, 0x99]);
const RELEASE_OUTCOMES = new Set([0x00, 0x92]);
const CONNECT_OUTCOMES = new Set([
  0x00, 0x80, 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8a, 0x8c, 0x90, 0x95, 0x97, 0x99, 0x9a,
  0x9b, 0x9c, 0x9d, 0x9f,
]);
const SUBSCRIBE_OUTCOMES = new Set([0x00, 0x01, 0x02, 0x80, 0x83, 0x87, 0x8f, 0x91, 0x97, 0x9e, 0xa1, 0xa2]);
const UNSUBSCRIBE_OUTCOMES = new Set([0x00, 0x11, 0x80, 0x83, 0x87, 0x8f, 0x91]);

/** The Reason Codes that a packet may carry, by the side that reads the packet (tables of sections 3.2 to 3.15). */
const ALLOWED: Readonly<Record<Role, Partial<Record<PacketType, ReadonlySet<number>>>>> = {
  server: {
    puback: PUBLISH_OUTCOMES,
    pubrec: PUBLISH_OUTCOMES,
    pubrel: RELEASE_OUTCOMES,
    pubcomp: RELEASE_OUTCOMES,
    disconnect: new Set([0x00, 0x04, ...ERRORS_OF_BOTH_SIDES]),
    auth: new Set([0x18, 0x19]),
  },
  client: {
    connack: CONNECT_OUTCOMES,
    puback: PUBLISH_OUTCOMES,
    pubrec: PUBLISH_OUTCOMES,
    pubrel: RELEASE_OUTCOMES,
    pubcomp: RELEASE_OUTCOMES,
    suback: SUBSCRIBE_OUTCOMES,
    unsuback: UNSUBSCRIBE_OUTCOMES,
    disconnect: new Set([
      0x00,
      0x87,
      0x89,
      0x8b,
      0x8d,
      0x8e,
      0x8f,
      0x9a,
      0x9b,
      0x9c,
      0x9d,
      0x9e,
      0x9f,
      0xa0,
      0xa1,
      0xa2,
      ...ERRORS_OF_BOTH_SIDES,
    ]),
    auth: new Set([0x00, 0x18]),
  },
};

const NONE: ReadonlySet<number> = new Set();

export function reasonCodesOf(type: PacketType, receiver: Role): ReadonlySet<number> {
  return ALLOWED[receiver][type] ?? NONE;
}

/** Whether a packet of this type may carry this Reason Code to this receiver. */
export function isReasonCodeAllowed(type: PacketType, reasonCode: number, receiver: Role): boolean {
  return reasonCodesOf(type, receiver).has(reasonCode);
}

const CONNACK_RETURN_CODES: ReadonlyMap<number, number> = new Map([
  [ReasonCode.Success, 0],
  [ReasonCode.UnsupportedProtocolVersion, 1],
  [ReasonCode.ClientIdentifierNotValid, 2],
  [ReasonCode.ServerUnavailable, 3],
  [ReasonCode.ServerBusy, 3],
  [ReasonCode.QuotaExceeded, 3],
  [ReasonCode.UseAnotherServer, 3],
  [ReasonCode.ServerMoved, 3],
  [ReasonCode.ConnectionRateExceeded, 3],
  [ReasonCode.BadUserNameOrPassword, 4],
  [ReasonCode.BadAuthenticationMethod, 4],
  [ReasonCode.NotAuthorized, 5],
  [ReasonCode.Banned, 5],
]);

const REASON_CODES_OF_RETURN_CODES: readonly number[] = [
  ReasonCode.Success,
  ReasonCode.UnsupportedProtocolVersion,
  ReasonCode.ClientIdentifierNotValid,
  ReasonCode.ServerUnavailable,
  ReasonCode.BadUserNameOrPassword,
  ReasonCode.NotAuthorized,
];

/**
 * The CONNACK return code of MQTT 3.1.1 (table 3.1 there) for a Reason Code of MQTT 5.0.
 *
 * `undefined` where none applies: the server then closes without a CONNACK [MQTT3-3.2.2-6].
 */
export function toConnackReturnCode(reasonCode: number): number | undefined {
  return CONNACK_RETURN_CODES.get(reasonCode);
}

/** The Reason Code of MQTT 5.0 for a CONNACK return code of MQTT 3.1.1, which a client reads. */
export function fromConnackReturnCode(returnCode: number): number | undefined {
  return REASON_CODES_OF_RETURN_CODES[returnCode];
}
