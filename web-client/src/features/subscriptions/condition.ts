import type { UserProperties } from '../../engine/types.ts';

/** The user property with the condition of a subscription: only messages that fit it are sent. */
const WHERE = 'where';

/** '': the subscription has none. */
export function conditionOf(userProperties: UserProperties): string {
  return userProperties.find(([name]) => name === WHERE)?.[1] ?? '';
}

/** The same user properties with another condition. */
export function withCondition(userProperties: UserProperties, condition: string): UserProperties {
  const others = withoutCondition(userProperties);
  return condition === '' ? others : [...others, [WHERE, condition]];
}

export function withoutCondition(userProperties: UserProperties): UserProperties {
  return userProperties.filter(([name]) => name !== WHERE);
}
