/** Names of the environment variables of these functions, beside those of all functions. */
export const BRIDGE_VARIABLES = {
  /** JSON of a bridge from Kafka: its name, tenant, bound on hops, and mappings. */
  kafka: 'APUS_KAFKA',
  /** JSON of the bridges from AWS IoT Core: a list of the same. */
  iotCore: 'APUS_IOT_CORE',
  /** JSON of the rules: the list of their file. */
  rules: 'APUS_RULES',
} as const;
