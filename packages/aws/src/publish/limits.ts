import { SERVER_FRAME_BYTES_MAX } from '../frames/text-frame.ts';

/** The bytes that delivery may add to a PUBLISH: a packet id and a few subscription identifiers. */
const SUBSCRIBER_BYTES = 64;

/** Bytes of the PUBLISH that a message becomes at the gateway door, where a packet is never split over two posts. */
export const PUBLISH_BYTES_MAX = SERVER_FRAME_BYTES_MAX - SUBSCRIBER_BYTES;
