/** Names of the environment variables of these functions, in addition to those of all functions. */
export const BRIDGE_VARIABLES = {
  /** JSON of a bridge from Kafka: its name, tenant, hop limit and mappings. */
  kafka: 'APUS_KAFKA',
  /** JSON of the bridges from AWS IoT Core: a list with the same fields. */
  iotCore: 'APUS_IOT_CORE',
  /** JSON of the rules: the list of their file. */
  rules: 'APUS_RULES',
} as const;
