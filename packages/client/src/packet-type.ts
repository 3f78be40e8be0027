/** The types of MQTT packets (section 2.1.2). Constants of a module, so that a bundler writes the numbers in their place. */

export const CONNECT = 1;
export const CONNACK = 2;
export const PUBLISH = 3;
export const PUBACK = 4;
export const PUBREC = 5;
export const PUBREL = 6;
export const PUBCOMP = 7;
export const SUBSCRIBE = 8;
export const UNSUBSCRIBE = 10;
export const PINGREQ = 12;
export const PINGRESP = 13;
export const DISCONNECT = 14;
export const AUTH = 15;
