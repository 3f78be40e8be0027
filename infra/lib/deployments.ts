import type { Alarm } from 'aws-cdk-lib/aws-cloudwatch';
import { LambdaApplication, LambdaDeploymentConfig, LambdaDeploymentGroup } from 'aws-cdk-lib/aws-codedeploy';
import { ManagedPolicy, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import { acknowledge } from './acknowledge.ts';
import type { Watched } from './broker-alarms.ts';

/** The alarms that go off if new code fails. The other alarms report load. */
const GUARDING = ['GatewayErrors', 'FanOutErrors', 'TimerErrors', 'PublishErrors'];
/** The alarms take two minutes of errors, and their metrics come one or two late. */
const SHIFT = LambdaDeploymentConfig.CANARY_10PERCENT_10MINUTES;
const POLICY = 'service-role/AWSCodeDeployRoleForLambdaLimited';

/** Ids of the constructs: of the broker's application, and of each alias's group. */
export const DEPLOYMENTS = 'Deployments';
export const DEPLOYMENT = 'Deployment';

/** Lets CodeDeploy move each alias to a new version, and back if an alarm goes off. */
export function guardDeployments(
  scope: Construct,
  { functions, publish }: Pick<Watched, 'functions' | 'publish'>,
  alarms: ReadonlyMap<string, Alarm>,
): void {
  const application = new LambdaApplication(scope, DEPLOYMENTS);
  const role = createRole(scope);
  const guarding = GUARDING.flatMap((id) => alarms.get(id) ?? []);
  for (const { alias } of [...Object.values(functions), ...(publish === undefined ? [] : [publish])]) {
    if (alias === undefined) continue;
    const props = { application, alias, role, alarms: guarding, deploymentConfig: SHIFT };
    new LambdaDeploymentGroup(alias, DEPLOYMENT, props);
  }
}

function createRole(scope: Construct): Role {
  const role = new Role(scope, 'DeploymentRole', {
    assumedBy: new ServicePrincipal('codedeploy.amazonaws.com'),
    managedPolicies: [ManagedPolicy.fromAwsManagedPolicyName(POLICY)],
  });
  acknowledge(
    role,
    `AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/${POLICY}]`,
    'The policy that AWS has made for deployments of functions, in a role that nothing but CodeDeploy may assume.',
  );
  return role;
}
