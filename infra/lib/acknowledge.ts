import { AspectPriority, Aspects, CfnResource, Stack, Validations } from 'aws-cdk-lib/core';
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

/**
 * cdk-nag 2 does not read acknowledgements, but metadata of resources, where it writes suppressions itself. They are
 * made of each other only in an app that has its packs: a template without them stays as it is.
 */
export function suppressForNag2(construct: IConstruct): void {
  const visit = (node: IConstruct): void => {
    if (!CfnResource.isCfnResource(node) || !isCheckedByNag2(node)) return;
    const { rules_to_suppress: own = [] } = node.getMetadata(NAG_2_METADATA) ?? {};
    const ours = scopesWithin(construct, node).flatMap(acknowledgedAt).map(suppressionOf);
    if (ours.length > 0) node.addMetadata(NAG_2_METADATA, { rules_to_suppress: [...own, ...ours] });
  };
  // Before the packs, which are aspects without a priority.
  Aspects.of(construct).add({ visit }, { priority: AspectPriority.MUTATING });
}

const NAG_2_METADATA = 'cdk_nag';

/** A pack of cdk-nag 2 is an aspect; one of 3 is a plugin of the validation. */
function isCheckedByNag2({ node }: IConstruct): boolean {
  return node.scopes.some((scope) => Aspects.of(scope).all.some((aspect) => 'readPackName' in aspect));
}

function scopesWithin(construct: IConstruct, { node }: IConstruct): readonly IConstruct[] {
  return node.scopes.slice(node.scopes.indexOf(construct));
}

/** Ids, which the CDK marks as those of annotations, with their reasons. */
function acknowledgedAt({ node }: IConstruct): readonly (readonly [string, string])[] {
  return node.metadata
    .filter(({ type }) => type === Validations.ACKNOWLEDGED_RULES_METADATA_KEY)
    .flatMap(({ data }) => Object.entries<string>(data))
    .map(([id, reason]) => [id.replace(/^annotation::/i, ''), reason]);
}

/** `AwsSolutions-IAM5[Resource::*]`: the part in brackets is the finding. */
function suppressionOf([acknowledged, reason]: readonly [string, string]): object {
  const [, id = acknowledged, finding] = /^([^[]+)\[(.+)\]$/.exec(acknowledged) ?? [];
  return { id, reason, ...(finding !== undefined && { applies_to: [finding] }) };
}
