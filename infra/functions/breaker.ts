import { type ApiGatewayV2Client, GetStageCommand, UpdateStageCommand } from '@aws-sdk/client-apigatewayv2';
import {
  DeleteFunctionConcurrencyCommand,
  type LambdaClient,
  PutFunctionConcurrencyCommand,
  UpdateEventSourceMappingCommand,
} from '@aws-sdk/client-lambda';
import { PublishCommand, type SNSClient } from '@aws-sdk/client-sns';

/** Frames a second that a tripped stage lets through: enough to see that somebody is still there. */
export const TRIPPED_FRAMES_PER_SECOND = 1;

/** Subject lines of SNS end here. */
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
  /** What the throttle is when nothing is wrong. */
  readonly throttle: Throttle;
  /** The source of the fan-out's workers. */
  readonly eventSourceMappingId: string;
  /** The function that backends publish through, where there is one. */
  readonly publishFunctionName: string | undefined;
  readonly topicArn: string | undefined;
  readonly log: (line: string) => void;
}

/** What SNS hands over when the alarm goes off; or what the owner sends by hand. */
export type BreakerEvent = AlarmEvent | { readonly action: 'trip' | 'reset' };

export interface AlarmEvent {
  readonly Records: readonly { readonly Sns: { readonly Message: string } }[];
}

/**
 * Stops a runaway: clients' frames are throttled to next to nothing, backends that publish over HTTPS are refused, and
 * workers take no more jobs, which wait in their queue. Nothing is lost that was promised, and nothing returns by
 * itself: somebody has to look, and to say `reset`.
 */
export class Breaker {
  readonly #options: BreakerOptions;

  constructor(options: BreakerOptions) {
    this.#options = options;
  }

  async handle(event: BreakerEvent): Promise<{ readonly state: 'tripped' | 'closed' }> {
    if ('action' in event) {
      if (event.action === 'reset') return await this.#reset();
      if (event.action === 'trip') return await this.#trip('It was tripped by hand.');
      throw new Error(`"action" is "trip" or "reset", not ${JSON.stringify(event.action)}`);
    }
    return await this.#trip(event.Records.map(({ Sns }) => reasonOf(Sns.Message)).join(' '));
  }

  async #trip(reason: string): Promise<{ readonly state: 'tripped' }> {
    const low = { framesPerSecond: TRIPPED_FRAMES_PER_SECOND, burstFrames: TRIPPED_FRAMES_PER_SECOND };
    await this.#all(low, false);
    await this.#say(
      'Apus: the breaker has tripped',
      [
        reason,
        `Clients may send ${TRIPPED_FRAMES_PER_SECOND} frame a second, and messages of wide filters wait in their queue.`,
        ...(this.#options.publishFunctionName === undefined ? [] : ['Backends are refused (HTTP 429).']),
        'docs/runbook.md (Runaway) says how to look and how to reset it.',
      ].join(' '),
    );
    return { state: 'tripped' };
  }

  async #reset(): Promise<{ readonly state: 'closed' }> {
    await this.#all(this.#options.throttle, true);
    await this.#say('Apus: the breaker is closed again', 'All that it had stopped goes on as before.');
    return { state: 'closed' };
  }

  /** Each is tried whatever becomes of the others. Rejects when one failed: Lambda then calls again, twice. */
  async #all(throttle: Throttle, isOpen: boolean): Promise<void> {
    const { lambda, eventSourceMappingId } = this.#options;
    const results = await Promise.allSettled([
      this.#setThrottle(throttle),
      lambda.send(new UpdateEventSourceMappingCommand({ UUID: eventSourceMappingId, Enabled: isOpen })),
      this.#letBackends(isOpen),
    ]);
    const errors = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
    if (errors.length > 0) throw new AggregateError(errors, errors.map(String).join('; '));
  }

  /** The stage's other settings stay: an update replaces all of them at once. */
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
   * Where a function may not run its URL answers 429, and what was begun is ended. A concurrency of none can be
   * reserved in every account, also in a new one, where nothing else can.
   */
  async #letBackends(mayPublish: boolean): Promise<void> {
    const { lambda, publishFunctionName: FunctionName } = this.#options;
    if (FunctionName === undefined) return;
    if (mayPublish) await lambda.send(new DeleteFunctionConcurrencyCommand({ FunctionName }));
    else
      await lambda.send(new PutFunctionConcurrencyCommand({ FunctionName, ReservedConcurrentExecutions: 0 }));
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

/** What CloudWatch says about its alarm; or the message as it is, where it is not CloudWatch's. */
function reasonOf(message: string): string {
  try {
    const { AlarmName, NewStateReason } = JSON.parse(message) as Readonly<Record<string, unknown>>;
    return `${String(AlarmName)}: ${String(NewStateReason)}`;
  } catch {
    return message;
  }
}
