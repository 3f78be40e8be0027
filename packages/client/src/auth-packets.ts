import { bodyOf, byteAt, packetOf, varint } from './packet.ts';
import { changeProperties, stringProperty } from './properties.ts';
import * as PropertyId from './property-id.ts';

/** The Authentication Method of tokens (11). Of the two names that servers know, the one for tokens of any issuer. */
const METHOD = stringProperty(PropertyId.AUTHENTICATION_METHOD, 'CUSTOM-JWT');

const AUTH = 0xf0;
const SUCCESS = 0;
const RE_AUTHENTICATE = 0x19;

/** CONNECT with the method. `index`: where its properties are. */
export function addMethod(connect: Uint8Array, index: number): Uint8Array {
  return changeProperties(connect, index, [], [METHOD]);
}

/** CONNACK without what answers the method: the library has not asked for any. */
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

/** Whether the server has taken the token. AUTH of no length is a success as well. */
export function isSuccess(auth: Uint8Array): boolean {
  return byteAt(auth, bodyOf(auth)) === SUCCESS;
}
