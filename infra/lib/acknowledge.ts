import { Stack, Validations } from 'aws-cdk-lib/core';
import type { IConstruct } from 'constructs';

/**
 * Suppresses a rule of cdk-nag for a construct and its children, with the reason, for owners who run cdk-nag over their
 * app.
 */
export function acknowledge(construct: IConstruct, id: string, reason: string): void {
  Validations.of(construct).acknowledge({ id, reason });
}

/** Packs of cdk-nag that share many rules. */
const COMPLIANCE_PACKS = ['NIST.800.53.R5', 'HIPAA.Security', 'PCI.DSS.321'];

/** A rule that the compliance packs share, such as `LambdaDLQ`. */
export function acknowledgeRule(construct: IConstruct, rule: string, reason: string): void {
  for (const pack of COMPLIANCE_PACKS) acknowledge(construct, `${pack}-${rule}`, reason);
}

/** A wildcard in the resource of a policy, which cdk-nag wants named one by one. */
export function acknowledgeWildcard(construct: IConstruct, resourceArn: string, reason: string): void {
  const found = textOf(Stack.of(construct).resolve(resourceArn));
  acknowledge(construct, `AwsSolutions-IAM5[Resource::${found}]`, reason);
}

/** An ARN in cdk-nag's form: with `<LogicalId>` for parts that are only known at deployment. */
function textOf(resolved: unknown): string {
  if (typeof resolved === 'string') return resolved;
  const found = resolved as { Ref?: string; 'Fn::Join'?: [string, unknown[]]; 'Fn::GetAtt'?: string[] };
  const { Ref, 'Fn::Join': join, 'Fn::GetAtt': attribute } = found;
  if (join !== undefined) return join[1].map(textOf).join(join[0]);
  return `<${attribute === undefined ? Ref : attribute.join('.')}>`;
}
