import { priceBook, unitUsd, usdText } from '@apus/cost';
import type { GatewayTraffic, LoggedFrame } from '../../engine/types.ts';

/** PINGREQ and PINGRESP. */
const MESSAGES_PER_PING = 2;

export interface Saving {
  readonly billed: number;
  /** With one frame for each packet, including packets that the transport keeps. */
  readonly alone: number;
  /** Negative if frames without packets cost more than sharing saves. */
  readonly saved: number;
  /** The saved share of the cost with one frame for each packet, from 0 to 1; 0 if that is nothing. */
  readonly share: number;
}

export function savingOf(traffic: GatewayTraffic): Saving {
  const { messagesBilled, billedAlone, pingsAnswered, pubacksDropped } = traffic;
  return saving(messagesBilled, billedAlone + pingsAnswered * MESSAGES_PER_PING + pubacksDropped);
}

export function savingOfFrame({ billed, billedAlone }: LoggedFrame): Saving {
  return saving(billed, billedAlone);
}

function saving(billed: number, alone: number): Saving {
  const saved = alone - billed;
  return { billed, alone, saved, share: alone === 0 ? 0 : saved / alone };
}

/** Dollars for messages of API Gateway, at the list price. */
export function usdOfMessages(messages: number): string {
  const usd = messages * unitUsd(priceBook.gatewayMessage);
  return usd < 0 ? `−${usdText(-usd)}` : usdText(usd);
}
