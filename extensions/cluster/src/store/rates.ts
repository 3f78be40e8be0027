import type { Engine, Script } from './engine.ts';

/**
 * ARGV: how much each account in KEYS has spent, in ms. An account is its debt, and when it was that high: where the
 * engine's clock has gone back since, nothing of it is worked off yet.
 */
const SPEND: Script = {
  name: 'apusSpend',
  lua: `local t = redis.call('TIME')
local now = t[1] * 1000 + t[2] / 1000
local debts = {}
for i, key in ipairs(KEYS) do
  local before, at = string.match(redis.call('GET', key) or '0 0', '(%S+) (%S+)')
  local debt = math.max(0, before - math.max(0, now - at)) + ARGV[i]
  redis.call('SET', key, string.format('%.3f %.3f', debt, now), 'PX', math.ceil(debt) + 1)
  debts[i] = math.ceil(debt)
end
return debts`,
};

/** The debts of identities and tenants at all processes. An account without a debt has no key. */
export class ValkeyRates {
  readonly #engine: Engine;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** Charges accounts, and returns their debts in ms. */
  async spend(
    spendings: readonly { readonly key: string; readonly costMs: number }[],
  ): Promise<readonly number[]> {
    const keys = spendings.map(({ key }) => this.#engine.key('debt', key));
    const costs = spendings.map(({ costMs }) => costMs);
    return (await this.#engine.run(SPEND, keys, costs)) as number[];
  }
}
