import type { Template } from 'aws-cdk-lib/assertions';

interface Statement {
  readonly Effect: string;
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
}

/** The permissions of a function's role, as sorted lines `action resource`, with logical ids for references. */
export function permissionsOf(template: Template, roleIdPrefix: string): readonly string[] {
  const policies = Object.entries(template.findResources('AWS::IAM::Policy')).filter(([id]) =>
    id.startsWith(`${roleIdPrefix}DefaultPolicy`),
  );
  if (policies.length !== 1)
    throw new Error(`expected one policy of ${roleIdPrefix}, got ${policies.length}`);
  const statements = policies.flatMap(
    ([, { Properties }]) => Properties.PolicyDocument.Statement as Statement[],
  );
  return statements.flatMap(linesOf).sort();
}

function linesOf({ Effect, Action, Resource }: Statement): readonly string[] {
  if (Effect !== 'Allow') throw new Error(`expected Allow, got ${Effect}`);
  return listOf(Action).flatMap((action) =>
    listOf(Resource).map((resource) => `${action} ${textOf(resource)}`),
  );
}

function listOf<T>(value: T | readonly T[]): readonly T[] {
  return Array.isArray(value) ? value : [value as T];
}

/** `{"Fn::GetAtt": ["Table", "Arn"]}` → `Table`; a join is put together. */
function textOf(resource: unknown): string {
  if (typeof resource === 'string') return resource;
  const { Ref, 'Fn::GetAtt': attribute, 'Fn::Join': join } = resource as Readonly<Record<string, unknown>>;
  if (typeof Ref === 'string') return `{${shortened(Ref)}}`;
  if (Array.isArray(attribute)) return `{${shortened(String(attribute[0]))}}`;
  if (Array.isArray(join)) return (join[1] as unknown[]).map(textOf).join(String(join[0]));
  throw new Error(`cannot read the resource ${JSON.stringify(resource)}`);
}

/** Without the hash that CDK adds. */
function shortened(logicalId: string): string {
  return logicalId.replace(/[0-9A-F]{8}$/, '');
}
