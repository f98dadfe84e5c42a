import Testing

@testable import SwitchyardGenerator

/// The styles of parameters in the OpenAPI Specification 3.1.1, section 4.8.12.
@Suite struct ParameterStyleTests {
    @Test func `an operation overrides a header parameter of its path, whatever the case of the names`()
        throws
    {
        let output = try client(
            paths: """
                  /things:
                    parameters: [{ name: X-Trace, in: header, schema: { type: string } }]
                    get:
                      operationId: things_do
                      tags: [things]
                      parameters: [{ name: x-trace, in: header, required: true, schema: { type: integer } }]
                      responses: {}
                """
        )

        #expect(output.code.contains("func `do`(xTrace: Int) async"))
        #expect(output.code.contains("headers: [\"x-trace\": xTrace]"))
    }
}
