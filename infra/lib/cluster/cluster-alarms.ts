import { MathExpression, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Duration } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { type AlarmDefinition, createAlarm, createAlarmTopic, tell } from '../alarms.ts';
import type { Balancer } from './balancer.ts';
import type { ClusterAlarmProps } from './cluster-props.ts';
import type { ManagedEngine } from './engine.ts';
import type { Service } from './service.ts';

const PERIOD = Duration.minutes(1);
/** Seconds: above ten, an engine that writes asynchronously accepts no more writes. */
const DURABILITY_LAG_SECONDS = 5;

/** One alarm for each problem that needs a person. Returns the topic that they notify. */
export function createClusterAlarms(
  scope: Construct,
  props: ClusterAlarmProps,
  service: Service,
  balancer: Balancer,
  engine: ManagedEngine | undefined,
): ITopic {
  const topic = createAlarmTopic(scope, props, undefined);
  const definitions = [...ofTasks(service, balancer), ...(engine === undefined ? [] : ofEngine(engine))];
  for (const definition of definitions) tell(createAlarm(scope, definition), topic);
  return topic;
}

function ofTasks({ service }: Service, { targets }: Balancer): AlarmDefinition[] {
  return [
    {
      id: 'ClusterCpu',
      description: 'The processes of the cluster have been busy for ten minutes, and scaling has not helped.',
      metric: service.metricCpuUtilization({ period: PERIOD, statistic: 'Average' }),
      threshold: 80,
      periods: 10,
    },
    {
      id: 'ClusterMemory',
      description: 'A task of the cluster is running out of memory.',
      metric: service.metricMemoryUtilization({ period: PERIOD, statistic: 'Maximum' }),
      threshold: 85,
      periods: 5,
    },
    {
      id: 'ClusterUnhealthyTasks',
      description: 'A task of the cluster takes no clients.',
      metric: targets.metrics.unHealthyHostCount({ period: PERIOD, statistic: 'Maximum' }),
      threshold: 0,
      periods: 5,
    },
    {
      id: 'ClusterTasksMissing',
      section: 'ClusterUnhealthyTasks',
      description: 'No task, or only one, takes clients.',
      metric: targets.metrics.healthyHostCount({ period: PERIOD, statistic: 'Minimum' }),
      threshold: 2,
      periods: 5,
      isBelow: true,
    },
  ];
}

/**
 * CloudWatch has these metrics for each node. After a failover another node is the primary, so all of them are watched.
 */
function ofEngine({ nodeNames, isDurable }: ManagedEngine): AlarmDefinition[] {
  const of = (metricName: string) => {
    const entries = nodeNames.map((name, index): [string, Metric] => [
      `node${index + 1}`,
      new Metric({
        namespace: 'AWS/ElastiCache',
        metricName,
        dimensionsMap: { CacheClusterId: name },
        statistic: 'Maximum',
      }),
    ]);
    const usingMetrics = Object.fromEntries(entries);
    const expression = `MAX([${Object.keys(usingMetrics).join(', ')}])`;
    return new MathExpression({ expression, usingMetrics, period: PERIOD, label: metricName });
  };
  return [
    {
      id: 'ClusterEngineMemory',
      description:
        'The engine of the cluster is filling up; when it is full, messages and sessions are refused.',
      metric: of('DatabaseMemoryUsageCountedForEvictPercentage'),
      threshold: 75,
      periods: 5,
    },
    {
      id: 'ClusterEngineCpu',
      description: 'The engine of the cluster is busy: it works on one core, and every process waits for it.',
      metric: of('EngineCPUUtilization'),
      threshold: 75,
      periods: 10,
    },
    ...(isDurable
      ? [
          {
            id: 'ClusterEngineDurability',
            description: 'The engine of the cluster is behind with its log in other Availability Zones.',
            metric: of('DurabilityLag'),
            threshold: DURABILITY_LAG_SECONDS,
            periods: 3,
          },
        ]
      : []),
  ];
}
