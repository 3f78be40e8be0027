import type { RateQuotas } from '@apus/broker';
import type { MinuteMeter } from './minute-meter.ts';

const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;

/**
 * The debt of one holder, as time: the moment at which everything is worked off at the holder's rates (a leaky
 * bucket as a meter, ITU-T I.371). Packets, bytes and deliveries are charged to one account, so half of one rate and
 * half of another use all of it. An account is a few numbers, and a charge adds to one: nothing is allocated and no
 * timer runs.
 */
export class RateAccount {
  #msPerPacket = 0;
  #msPerPublish = 0;
  #msPerFrame = 0;
  #msPerByte = 0;
  #msPerDelivery = 0;
  #debtEndsAtMs = 0;
  readonly #delivered: MinuteMeter | undefined;

  /** @param delivered counts deliveries while there is a rate for them, for operators */
  constructor(quotas: RateQuotas, delivered?: MinuteMeter) {
    this.#delivered = delivered;
    this.setRates(quotas);
  }

  /** From now on charges cost what these quotas say; the debt stays. */
  setRates(quotas: RateQuotas): void {
    this.#msPerPacket = share(SECOND_MS, quotas.packetsPerSecondMax);
    this.#msPerPublish = Math.max(this.#msPerPacket, share(SECOND_MS, quotas.publishesPerSecondMax));
    this.#msPerFrame = share(SECOND_MS, quotas.framesPerSecondMax);
    this.#msPerByte = share(SECOND_MS, quotas.bytesPerSecondMax);
    this.#msPerDelivery = share(MINUTE_MS, quotas.deliveriesPerMinuteMax);
  }

  chargePackets(count: number, nowMs: number): void {
    this.charge(count * this.#msPerPacket, nowMs);
  }

  chargePublishes(count: number, nowMs: number): void {
    this.charge(count * this.#msPerPublish, nowMs);
  }

  chargeFrames(count: number, nowMs: number): void {
    this.charge(count * this.#msPerFrame, nowMs);
  }

  chargeBytes(bytes: number, nowMs: number): void {
    this.charge(bytes * this.#msPerByte, nowMs);
  }

  /** @param elsewhere how many of the deliveries other processes make and count, while this one pays for them */
  chargeDeliveries(count: number, nowMs: number, elsewhere = 0): void {
    if (this.#msPerDelivery === 0) return;
    this.#delivered?.add(count, nowMs);
    this.charge((count + elsewhere) * this.#msPerDelivery, nowMs);
  }

  /** Charges deliveries for a publisher at another process, which has paid for a part (0 to 1) of one of them. */
  chargeRelayed(count: number, nowMs: number, msPerDelivery: number, paid: number): void {
    if (msPerDelivery === 0 || count === 0) return;
    this.#delivered?.add(count, nowMs);
    this.charge((count - paid) * msPerDelivery, nowMs);
  }

  /** The cost of a delivery, in ms. 0: deliveries are free. */
  get msPerDelivery(): number {
    return this.#msPerDelivery;
  }

  /** Deliveries that were charged in the last minute; 0 if they are not counted. */
  deliveriesOfLastMinute(nowMs: number): number {
    return this.#delivered?.total(nowMs) ?? 0;
  }

  /** The account can be forgotten: its holder has no debt. */
  isIdle(nowMs: number): boolean {
    return this.debtMs(nowMs) <= 0 && this.deliveriesOfLastMinute(nowMs) === 0;
  }

  /** How long its debt takes to be worked off; 0 or less: there is none. */
  debtMs(nowMs: number): number {
    return this.#debtEndsAtMs - nowMs;
  }

  /** How long its clients have to wait until the debt is at most this. Longer if the debt is not known. */
  waitMs(nowMs: number): number {
    return this.debtMs(nowMs);
  }

  protected charge(costMs: number, nowMs: number): void {
    if (costMs > 0) this.#debtEndsAtMs = Math.max(this.#debtEndsAtMs, nowMs) + costMs;
  }
}

/** 0: no limit, and no cost. */
function share(periodMs: number, countMax: number): number {
  return countMax === 0 ? 0 : periodMs / countMax;
}
