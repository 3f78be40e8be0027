import type { RateQuotas } from '@apus/broker';

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;

/**
 * The spending of one holder, in time: the moment at which all of it is worked off at the holder's rates (a leaky bucket
 * as a meter, as ITU-T I.371 has it). Packets, bytes and deliveries are charged to one account, so half of one rate and
 * half of another are all. An account is a few numbers, and a charge adds to one of them: nothing is allocated and no
 * timer runs.
 */
export class RateAccount {
  #msPerPacket = 0;
  #msPerPublish = 0;
  #msPerByte = 0;
  #msPerDelivery = 0;
  #debtEndsAtMs = 0;

  constructor(quotas: RateQuotas) {
    this.setRates(quotas);
  }

  /** From now on charges cost as much as these quotas say; the debt stays. */
  setRates(quotas: RateQuotas): void {
    this.#msPerPacket = share(SECOND_MS, quotas.packetsPerSecondMax);
    this.#msPerPublish = Math.max(this.#msPerPacket, share(SECOND_MS, quotas.publishesPerSecondMax));
    this.#msPerByte = share(SECOND_MS, quotas.bytesPerSecondMax);
    this.#msPerDelivery = share(MINUTE_MS, quotas.deliveriesPerMinuteMax);
  }

  chargePackets(count: number, nowMs: number): void {
    this.charge(count * this.#msPerPacket, nowMs);
  }

  chargePublishes(count: number, nowMs: number): void {
    this.charge(count * this.#msPerPublish, nowMs);
  }

  chargeBytes(bytes: number, nowMs: number): void {
    this.charge(bytes * this.#msPerByte, nowMs);
  }

  chargeDeliveries(count: number, nowMs: number): void {
    this.charge(count * this.#msPerDelivery, nowMs);
  }

  /** How long its debt takes to be worked off; 0 or less: there is none. */
  debtMs(nowMs: number): number {
    return this.#debtEndsAtMs - nowMs;
  }

  /** How long its clients have to wait before they are at this debt. Longer where the debt is not known. */
  waitMs(nowMs: number): number {
    return this.debtMs(nowMs);
  }

  protected charge(costMs: number, nowMs: number): void {
    if (costMs > 0) this.#debtEndsAtMs = Math.max(this.#debtEndsAtMs, nowMs) + costMs;
  }
}

/** 0 stands for any number, which costs nothing. */
function share(periodMs: number, countMax: number): number {
  return countMax === 0 ? 0 : periodMs / countMax;
}
