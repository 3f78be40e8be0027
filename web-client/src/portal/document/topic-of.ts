import type { PortalTopic } from './portal-document.ts';

/** The reader's values, by the names of parameters. */
export type Values = Readonly<Record<string, string>>;

/** The filter for receiving: a parameter without a value stands for all values. */
export function filterOf(topic: PortalTopic, values: Values): string {
  return replaced(topic, (name, isRest) => givenValue(values, name) || (isRest ? '#' : '+'));
}

/** The topic of one message: a parameter without a value has its first example, or its name. */
export function topicNameOf(topic: PortalTopic, values: Values): string {
  return replaced(topic, (name) => givenValue(values, name) || exampleOf(topic, name));
}

export function exampleOf({ parameters }: PortalTopic, name: string): string {
  return parameters.find((each) => each.name === name)?.values[0] ?? name;
}

/** A parameter may have the name of an inherited member. */
export function givenValue(values: Values, name: string): string {
  return (Object.hasOwn(values, name) && values[name]) || '';
}

function replaced(
  { address, parameters }: PortalTopic,
  by: (name: string, isRest: boolean) => string,
): string {
  const known = new Map(parameters.map((each) => [`{${each.name}}`, each]));
  return address
    .split('/')
    .map((level) => {
      const parameter = known.get(level);
      return parameter === undefined ? level : by(parameter.name, parameter.isRest);
    })
    .join('/');
}
