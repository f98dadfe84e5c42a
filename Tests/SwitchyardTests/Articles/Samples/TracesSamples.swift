import Switchyard
import SwitchyardDiagnostics

// The samples of the article on traces, word for word.

enum TracesSamples {
    static func export(
        _ service: Service,
        _ options: inout NetworkClient.Options
    ) throws(ClientError) -> (NetworkClient, OpenTelemetryExporter) {
        // sample
        let telemetry = try OpenTelemetryExporter(collector: "http://localhost:4318", service: "forum-app")
        options.interceptors.append(telemetry.interceptor)
        let client = try NetworkClient(service: service, options: options)
        telemetry.follow(client)
        // end
        return (client, telemetry)
    }

    static func end(_ telemetry: OpenTelemetryExporter) async {
        // sample
        await telemetry.flush()
        await telemetry.shutdown(within: .seconds(2))
        // end
    }

    static func resume(_ received: HTTPHeaders, _ client: NetworkClient) async throws {
        // sample
        try await TraceContext.$current.withValue(TraceContext(received)) {
            _ = try await client.send(APIConfiguration(path: "topics"))
        }
        // end
    }

    static func configure(_ key: String) -> OpenTelemetryExporter.Options {
        // sample
        var telemetryOptions = OpenTelemetryExporter.Options()
        telemetryOptions.sampling = .parentBased(.ratio(0.1))
        telemetryOptions.headers = ["X-Api-Key": key]
        telemetryOptions.resource = ["deployment.environment.name": "production"]
        // end
        return telemetryOptions
    }
}
