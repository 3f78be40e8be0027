import type { QuotaScopes, SessionStore, Streams } from '@apus/broker';
import type { DynamoPresence, DynamoStores } from '@apus/store-dynamodb';
import type { MonthCounters } from '../metrics/month-counters.ts';
import type { OperatorContext } from '../operator/ban.ts';
import type { UsageStore } from '../usage/environment-usage.ts';
import type { ApiBreaker } from './breaker.ts';
import type { Kept } from './kept.ts';
import type { ApiRules } from './rules.ts';
import type { DeployedBridge, DescribedTopics } from './systems.ts';
import type { Counts } from './tenant-counts.ts';

export interface ApiContext extends OperatorContext {
  readonly sessions: Pick<SessionStore, 'get'>;
  readonly subscriptions: DynamoStores['subscriptions'];
  /** @default none */
  readonly streams?: Streams | undefined;
  /** Where usage is counted. @default usage is not counted, and a request for it is refused */
  readonly usage?: UsageStore | undefined;
  /** @default none */
  readonly presence?: DynamoPresence | undefined;
  /** Undefined where there are no rules. */
  readonly rules?: ApiRules | undefined;
  /** @default none */
  readonly bridges?: readonly DeployedBridge[] | undefined;
  /** Undefined: there is no CloudWatch, and requests for metrics are refused as unavailable. */
  readonly counters?: MonthCounters | undefined;
  /** Undefined where the deployment has none. */
  readonly breaker?: ApiBreaker | undefined;
  /** In force where a tenant has no plan of its own, and an identity no quotas of its own. */
  readonly quotas: QuotaScopes;
  readonly counts: Kept<Counts>;
  readonly filters: Kept<readonly string[]>;
  /** Undefined where no topics are described. */
  readonly described?: DescribedTopics | undefined;
  /** @default the broker's own default */
  readonly topicLevelsMax?: number | undefined;
  /** Called with the number of messages that a request has published. */
  readonly published?: ((messages: number) => void) | undefined;
}
