/** The properties of CONNECT, CONNACK and AUTH that a transport has to know, by their identifiers (MQTT 5.0, 2.2.2.2). */

export const SESSION_EXPIRY_INTERVAL = 0x11;
export const SERVER_KEEP_ALIVE = 0x13;
export const AUTHENTICATION_METHOD = 0x15;
export const AUTHENTICATION_DATA = 0x16;
export const RECEIVE_MAXIMUM = 0x21;
