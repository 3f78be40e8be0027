import { Alarm, ComparisonOperator, type IMetric, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { Construct } from 'constructs';
import type { AlarmProps } from './props.ts';
import { createTopic } from './topic.ts';

/** One alarm. Its id, in words, is the title of its section in docs/runbook.md. */
export interface AlarmDefinition {
  readonly id: string;
  /**
   * The section for several alarms of one kind.
   * @default the id
   */
  readonly section?: string;
  readonly description: string;
  readonly metric: IMetric;
  /** The alarm goes off above this value. */
  readonly threshold: number;
  /** Periods of the metric, usually minutes, for which it has to be above. */
  readonly periods: number;
  /**
   * The alarm goes off below the threshold, and if there is no data.
   * @default above it
   */
  readonly isBelow?: true;
}

/** `FanOutDelay` is the section "Fan-out delay" of the runbook. */
export function createAlarm(scope: Construct, definition: AlarmDefinition): Alarm {
  const { id, section = id, description, metric, threshold, periods, isBelow = false } = definition;
  return new Alarm(scope, `${id}Alarm`, {
    metric,
    threshold,
    evaluationPeriods: periods,
    comparisonOperator: isBelow
      ? ComparisonOperator.LESS_THAN_THRESHOLD
      : ComparisonOperator.GREATER_THAN_THRESHOLD,
    treatMissingData: isBelow ? TreatMissingData.BREACHING : TreatMissingData.NOT_BREACHING,
    alarmDescription: `${description} docs/runbook.md#${anchorOf(section)}`,
  });
}

/** Anchor of an alarm's section: `FanOutDelay` → `fan-out-delay`. */
export function anchorOf(id: string): string {
  return id.replace(/(?<=[a-z])[A-Z]/g, (letter) => `-${letter}`).toLowerCase();
}

/** The topic that alarms notify: the owner's, or one that the construct creates. */
export function createAlarmTopic(
  scope: Construct,
  { topic, email }: AlarmProps,
  key: IKey | undefined,
): ITopic {
  const told = topic ?? createTopic(scope, 'AlarmTopic', 'Apus: alarms', key);
  if (email !== undefined) told.addSubscription(new EmailSubscription(email));
  return told;
}

export function tell(alarm: Alarm, topic: ITopic): void {
  alarm.addAlarmAction(new SnsAction(topic));
  alarm.addOkAction(new SnsAction(topic));
}
