import type { UsageLine } from '@apus/broker';
import type { NodeApi } from './node-api.ts';
import type { StackOperator } from './stack-operator.ts';

/** A question in the form that `readUsageQuestion` of `@apus/broker` reads. */
export interface AskedUsage {
  readonly tenant: string | undefined;
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly by: string | undefined;
}

export interface UsageAnswer {
  readonly data: readonly UsageLine[];
  /** The hours of the report, in UTC: from the first one, up to but without the second. */
  readonly meta: { readonly from: string; readonly to: string; readonly by: string };
}

/** The usage of the tenants of a broker. */
export interface UsageOperator {
  usage(asked: AskedUsage): Promise<UsageAnswer>;
}

/** The usage of a node, through its `/api/v5/usage`. */
export class NodeUsageOperator implements UsageOperator {
  readonly #api: Pick<NodeApi, 'call'>;

  constructor(api: Pick<NodeApi, 'call'>) {
    this.#api = api;
  }

  async usage(asked: AskedUsage): Promise<UsageAnswer> {
    const given = Object.entries(asked).filter(([, value]) => value !== undefined) as [string, string][];
    return (await this.#api.call('GET', `usage?${new URLSearchParams(given)}`)).body as UsageAnswer;
  }
}

/** The usage of a deployment, through the operator's function. */
export class StackUsageOperator implements UsageOperator {
  readonly #operator: Pick<StackOperator, 'invoke'>;

  constructor(operator: Pick<StackOperator, 'invoke'>) {
    this.#operator = operator;
  }

  async usage(asked: AskedUsage): Promise<UsageAnswer> {
    return await this.#operator.invoke<UsageAnswer>({ action: 'usage', ...asked });
  }
}
