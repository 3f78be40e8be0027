import { bodyOf, byteAt, packetOf, varint } from './packet.ts';
import { changeProperties, stringProperty } from './properties.ts';
import * as PropertyId from './property-id.ts';

/**
 * The Authentication Method for tokens (11). Servers know two names; the transport uses the one for tokens of any
 * issuer.
 */
const METHOD = stringProperty(PropertyId.AUTHENTICATION_METHOD, 'CUSTOM-JWT');

const AUTH = 0xf0;
const SUCCESS = 0;
const RE_AUTHENTICATE = 0x19;

/** Adds the method to CONNECT. `index`: where the properties of CONNECT begin. */
export function addMethod(connect: Uint8Array, index: number): Uint8Array {
  return changeProperties(connect, index, [], [METHOD]);
}

/** Removes the authentication properties from CONNACK, since the library has not asked for any. */
export function removeMethod(connack: Uint8Array): Uint8Array {
  const dropped = [PropertyId.AUTHENTICATION_METHOD, PropertyId.AUTHENTICATION_DATA];
  return changeProperties(connack, bodyOf(connack) + 2, dropped, []);
}

/** AUTH that shows a new token (MQTT 5.0, 4.12.1). */
export function reAuthenticate(token: string): Uint8Array {
  const data = stringProperty(PropertyId.AUTHENTICATION_DATA, token);
  const length = varint(METHOD.length + data.length);
  return packetOf(AUTH, [Uint8Array.of(RE_AUTHENTICATE), length, METHOD, data]);
}

/** Whether the server has taken the token. An AUTH without a reason code means success as well. */
export function isSuccess(auth: Uint8Array): boolean {
  return byteAt(auth, bodyOf(auth)) === SUCCESS;
}
