import { DomainName, EndpointType, SecurityPolicy } from 'aws-cdk-lib/aws-apigatewayv2';
import { ARecord, RecordTarget } from 'aws-cdk-lib/aws-route53';
import { ApiGatewayv2DomainProperties } from 'aws-cdk-lib/aws-route53-targets';
import type { Construct } from 'constructs';
import type { DomainProps } from './props.ts';

/** A custom domain for the API; with a hosted zone, its DNS records as well. */
export function createDomain(scope: Construct, props: DomainProps): DomainName {
  const { domainName, certificate, hostedZone } = props;
  const domain = new DomainName(scope, 'Domain', {
    domainName,
    certificate,
    endpointType: EndpointType.REGIONAL,
    securityPolicy: SecurityPolicy.TLS_1_2,
  });
  if (hostedZone !== undefined) {
    const target = RecordTarget.fromAlias(
      new ApiGatewayv2DomainProperties(domain.regionalDomainName, domain.regionalHostedZoneId),
    );
    new ARecord(scope, 'DomainRecord', { zone: hostedZone, recordName: `${domainName}.`, target });
  }
  return domain;
}
