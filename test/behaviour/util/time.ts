import { setTimeout } from 'node:timers/promises';

/**
 * Lets seconds pass that MQTT itself counts (expiry intervals). Not for hoping that something has arrived:
 * for that, await the packet.
 */
export const elapse = (seconds: number): Promise<void> => setTimeout(seconds * 1000);
