import { CfnScalingPolicy, type ScalableTarget } from 'aws-cdk-lib/aws-applicationautoscaling';
import type { Metric } from 'aws-cdk-lib/aws-cloudwatch';
import type { FargateService } from 'aws-cdk-lib/aws-ecs';
import type { Construct } from 'constructs';
import type { Balancer } from './balancer.ts';
import type { TaskProps } from './cluster-props.ts';
import {
  CONNECTIONS_MAX,
  CONNECTIONS_SHARE,
  CPU_PERCENT,
  SCALE_IN_COOLDOWN,
  SCALE_OUT_COOLDOWN,
  TASKS_LEAST,
  TASKS_MOST,
} from './limits.ts';

/** Adds tasks when the processors or the connections exceed their targets, and removes tasks when both are below. */
export function scale(
  scope: Construct,
  service: FargateService,
  { balancer, targets }: Balancer,
  { least = TASKS_LEAST, most = TASKS_MOST, ...props }: TaskProps,
): void {
  const scaling = service.autoScaleTaskCount({ minCapacity: least, maxCapacity: most });
  scaling.scaleOnCpuUtilization('Cpu', {
    targetUtilizationPercent: props.cpuPercent ?? CPU_PERCENT,
    scaleInCooldown: SCALE_IN_COOLDOWN,
    scaleOutCooldown: SCALE_OUT_COOLDOWN,
  });
  const { node } = scaling;
  const target = node.findChild('Target') as ScalableTarget;
  // The CDK's constructs accept no expression as a target; CloudFormation does.
  new CfnScalingPolicy(scope, 'ConnectionsPolicy', {
    policyName: `${scope.node.addr}-connections`,
    policyType: 'TargetTrackingScaling',
    scalingTargetId: target.scalableTargetId,
    targetTrackingScalingPolicyConfiguration: {
      targetValue: Math.floor((props.connectionsMax ?? CONNECTIONS_MAX) * CONNECTIONS_SHARE),
      scaleInCooldown: SCALE_IN_COOLDOWN.toSeconds(),
      scaleOutCooldown: SCALE_OUT_COOLDOWN.toSeconds(),
      customizedMetricSpecification: {
        metrics: [
          query('flows', balancer.metrics.custom('ActiveFlowCount_TLS', { statistic: 'Average' })),
          query('tasks', targets.metrics.healthyHostCount({ statistic: 'Average' })),
          { id: 'each', label: 'Connections of a task', expression: 'flows / tasks', returnData: true },
        ],
      },
    },
  });
}

function query(id: string, metric: Metric): CfnScalingPolicy.TargetTrackingMetricDataQueryProperty {
  const { namespace, metricName, dimensions = {}, statistic } = metric;
  return {
    id,
    returnData: false,
    metricStat: {
      metric: {
        namespace,
        metricName,
        dimensions: Object.entries(dimensions).map(([name, value]) => ({ name, value: String(value) })),
      },
      stat: statistic,
    },
  };
}
