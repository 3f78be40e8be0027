import { type ApiGatewayV2Client, GetStageCommand, UpdateStageCommand } from '@aws-sdk/client-apigatewayv2';
import {
  DeleteFunctionConcurrencyCommand,
  type LambdaClient,
  PutFunctionConcurrencyCommand,
  UpdateEventSourceMappingCommand,
} from '@aws-sdk/client-lambda';
import { PublishCommand, type SNSClient } from '@aws-sdk/client-sns';
import { TRIPPED_FRAMES_PER_SECOND } from './breaker-variables.ts';

const MINUTE_MS = 60_000;

/** The end of the subject line in SNS. */
const SUBJECT_LENGTH_MAX = 100;

export interface Throttle {
  readonly framesPerSecond: number;
  readonly burstFrames: number;
}

export interface BreakerOptions {
  readonly gateway: Pick<ApiGatewayV2Client, 'send'>;
  readonly lambda: Pick<LambdaClient, 'send'>;
  readonly sns: Pick<SNSClient, 'send'>;
  readonly apiId: string;
  readonly stageName: string;
  /** The throttle while the breaker is closed. */
  readonly throttle: Throttle;
  /**
   * The event sources of the fan-out's workers, of Kafka and of rules: while they are disabled, their messages wait.
   */
  readonly eventSourceMappingIds: readonly string[];
  /** The function that backends publish through, if there is one. */
  readonly publishFunctionName: string | undefined;
  /** The concurrency that is reserved for it normally. */
  readonly publishReservedConcurrency: number | undefined;
  readonly topicArn: string | undefined;
  /** The time after which a tripped breaker closes by itself; undefined: the owner has to send `reset`. */
  readonly resetAfterMs: number | undefined;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  readonly log: (line: string) => void;
}

/** An event of SNS when the alarm goes off, an event of the schedule (`look`), or a request of the owner. */
export type BreakerEvent = AlarmEvent | { readonly action: 'trip' | 'reset' | 'look' };

export type BreakerState = 'tripped' | 'closed';

export interface AlarmEvent {
  readonly Records: readonly { readonly Sns: { readonly Message: string } }[];
}

/**
 * Stops a runaway: clients' frames are throttled to almost nothing, backends that publish over HTTPS are refused, and
 * workers take no more jobs. Jobs wait in their queue, as messages for rules do in theirs, and records in Kafka. No
 * acknowledged message is lost. Clients reconnect by themselves when the breaker closes after a while. If the runaway
 * goes on, it trips the breaker again: it runs only for the minutes in between.
 */
export class Breaker {
  readonly #options: BreakerOptions;

  constructor(options: BreakerOptions) {
    this.#options = options;
  }

  async handle(event: BreakerEvent): Promise<{ readonly state: BreakerState }> {
    if ('action' in event) {
      if (event.action === 'reset') return await this.#reset();
      if (event.action === 'trip') return await this.#trip('It was tripped by hand.');
      if (event.action === 'look') return await this.#look();
      throw new Error(`"action" is "trip", "reset" or "look", not ${JSON.stringify(event.action)}`);
    }
    return await this.#trip(event.Records.map(({ Sns }) => reasonOf(Sns.Message)).join(' '));
  }

  async #trip(reason: string): Promise<{ readonly state: 'tripped' }> {
    const low = { framesPerSecond: TRIPPED_FRAMES_PER_SECOND, burstFrames: TRIPPED_FRAMES_PER_SECOND };
    await allOf([this.#setThrottle(low), ...this.#letSources(false), this.#letBackends(false)]);
    await this.#say(
      'Apus: the breaker has tripped',
      [
        reason,
        `Clients may send ${TRIPPED_FRAMES_PER_SECOND} frame a second, and messages of wide filters wait in their queue.`,
        ...(this.#options.publishFunctionName === undefined ? [] : ['Backends are refused (HTTP 429).']),
        this.#howItEnds(),
        'docs/runbook.md (Runaway) says how to look.',
      ].join(' '),
    );
    return { state: 'tripped' };
  }

  async #reset(): Promise<{ readonly state: 'closed' }> {
    // The throttle is restored last: as long as it is low the breaker counts as tripped, and the next check tries
    // again.
    await allOf([...this.#letSources(true), this.#letBackends(true)]);
    await this.#setThrottle(this.#options.throttle);
    await this.#say('Apus: the breaker is closed again', 'All that it had stopped goes on as before.');
    return { state: 'closed' };
  }

  #howItEnds(): string {
    const { resetAfterMs } = this.#options;
    if (resetAfterMs === undefined) return 'It stays so until somebody resets it.';
    return `It closes by itself after ${resetAfterMs / MINUTE_MS} minutes.`;
  }

  /** The stage itself records that it is tripped, and since when: no other store is needed [SEC-QUOTA-7]. */
  async #look(): Promise<{ readonly state: BreakerState }> {
    const { gateway, apiId, stageName, throttle, resetAfterMs, now } = this.#options;
    const { DefaultRouteSettings, LastUpdatedDate } = await gateway.send(
      new GetStageCommand({ ApiId: apiId, StageName: stageName }),
    );
    const framesPerSecond = DefaultRouteSettings?.ThrottlingRateLimit;
    if (framesPerSecond !== TRIPPED_FRAMES_PER_SECOND || framesPerSecond === throttle.framesPerSecond)
      return { state: 'closed' };
    const forMs = LastUpdatedDate === undefined ? 0 : now() - LastUpdatedDate.getTime();
    return resetAfterMs !== undefined && forMs >= resetAfterMs ? await this.#reset() : { state: 'tripped' };
  }

  #letSources(areEnabled: boolean): readonly Promise<unknown>[] {
    const { lambda, eventSourceMappingIds } = this.#options;
    return eventSourceMappingIds.map((UUID) =>
      lambda.send(new UpdateEventSourceMappingCommand({ UUID, Enabled: areEnabled })),
    );
  }

  /** Keeps the stage's other settings: an update replaces all of them at once. */
  async #setThrottle({ framesPerSecond, burstFrames }: Throttle): Promise<void> {
    const { gateway, apiId, stageName } = this.#options;
    const stage = { ApiId: apiId, StageName: stageName };
    const { DefaultRouteSettings } = await gateway.send(new GetStageCommand(stage));
    await gateway.send(
      new UpdateStageCommand({
        ...stage,
        DefaultRouteSettings: {
          ...DefaultRouteSettings,
          ThrottlingRateLimit: framesPerSecond,
          ThrottlingBurstLimit: burstFrames,
        },
      }),
    );
  }

  /**
   * A function with a concurrency of 0 answers 429 at its URL, and running invocations end. Every account can reserve
   * 0, even a new one, which can reserve nothing else.
   */
  async #letBackends(mayPublish: boolean): Promise<void> {
    const { lambda, publishFunctionName: FunctionName, publishReservedConcurrency } = this.#options;
    if (FunctionName === undefined) return;
    const ReservedConcurrentExecutions = mayPublish ? publishReservedConcurrency : 0;
    if (ReservedConcurrentExecutions === undefined) {
      await lambda.send(new DeleteFunctionConcurrencyCommand({ FunctionName }));
      return;
    }
    await lambda.send(new PutFunctionConcurrencyCommand({ FunctionName, ReservedConcurrentExecutions }));
  }

  async #say(subject: string, message: string): Promise<void> {
    const { sns, topicArn, log } = this.#options;
    log(JSON.stringify({ level: 'WARN', event: 'breaker', subject, message }));
    if (topicArn === undefined) return;
    await sns.send(
      new PublishCommand({
        TopicArn: topicArn,
        Subject: subject.slice(0, SUBJECT_LENGTH_MAX),
        Message: message,
      }),
    );
  }
}

/** Tries each, even if others fail. Rejects if one failed: Lambda then calls again, twice. */
async function allOf(attempts: readonly Promise<unknown>[]): Promise<void> {
  const results = await Promise.allSettled(attempts);
  const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
  if (errors.length > 0) throw new AggregateError(errors, errors.map(String).join('; '));
}

/** CloudWatch's reason for its alarm; any other message unchanged. */
function reasonOf(message: string): string {
  try {
    const { AlarmName, NewStateReason } = JSON.parse(message) as Readonly<Record<string, unknown>>;
    return `${String(AlarmName)}: ${String(NewStateReason)}`;
  } catch {
    return message;
  }
}
