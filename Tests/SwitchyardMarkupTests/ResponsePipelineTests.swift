import Foundation
import SwitchyardAPI
import SwitchyardClient
import SwitchyardHTTP
import SwitchyardMarkup
import SwitchyardServices
import Testing

@Suite struct ResponsePipelineTests {
    private static func raw(_ text: String, type: String = "application/json") -> RawResponse {
        RawResponse(headers: ["Content-Type": type], data: Data(text.utf8))
    }

    private static let parse = ResponseTransformer { (data: Data) in try JSONValue(parsing: data) }

    @Test func `pipeline stages run in order for their content types, and the order can be changed`() throws {
        var pipeline = ResponsePipeline()
        pipeline.add(.init { (text: String) in text + "!" }, at: .cleanup)
        pipeline.add(.init { (tree: JSONValue) in tree["name"]?.string ?? "" }, at: .model, for: ["application/*"])
        pipeline.add(Self.parse, at: .parsing, for: ["*/json", "application/*+json"])
        pipeline.add(.init { (data: Data) in Data(data.dropFirst(2)) }, at: .raw)
        pipeline.add(.init { (data: Data) in String(decoding: data, as: UTF8.self) }, at: .decoding, for: ["text/*"])

        let serializer = pipeline.serializer(for: String.self)
        #expect(try serializer.value(of: Self.raw(#"))"# + #"{"name":"Ada"}"#)) == "Ada!")
        #expect(try serializer.value(of: Self.raw("))plain", type: "text/plain")) == "plain!")
        pipeline.order = [.raw, .parsing, .model]
        #expect(try pipeline.serializer(for: String.self).value(of: Self.raw(#"))"# + #"{"name":"Ada"}"#)) == "Ada")
        pipeline.removeSteps(at: .raw)
        #expect(throws: APIError.self) { try pipeline.serializer(for: String.self).value(of: Self.raw("))[]")) }
    }

    @Test(arguments: [
        (ResponseTransformer.Mismatch.error, nil, nil), (.skip, "text", "[1]"), (.skipIfOutput, nil, "[1]"),
    ])
    func `if the content type does not match, a pipeline step fails or is skipped, as configured`(
        mismatch: ResponseTransformer.Mismatch,
        foreign: String?,
        made: String?
    ) {
        func result(_ first: ResponseTransformer) -> String? {
            var pipeline = ResponsePipeline()
            pipeline.add(first, at: .parsing)
            pipeline.add(
                ResponseTransformer(onMismatch: mismatch) { (data: Data) in try JSONValue(parsing: data) },
                at: .model
            )
            pipeline.add(.init(onMismatch: .skip) { (tree: JSONValue) in tree.text }, at: .cleanup)
            return try? pipeline.serializer(for: String.self).value(of: Self.raw("[1]"))
        }

        #expect(result(.init { (_: Data) in "text" }) == foreign)
        #expect(result(Self.parse) == made)
    }

    @Test func `a step of a response pipeline can replace an error`() {
        var pipeline = ResponsePipeline()
        pipeline.add(Self.parse, at: .parsing)
        pipeline.add(.init(errors: { _ in APIError(.module(.init(module: "Forum", code: 1_001))) }), at: .cleanup)

        #expect(throws: APIError(.module(.init(module: "Forum", code: 1_001)))) {
            try pipeline.serializer(for: JSONValue.self).value(of: Self.raw("{"))
        }
    }

    @Test func `a pipeline whose output has the wrong type fails`() {
        let expected = APIError(.body(.decoding(DecodingFailure(.wrongType(expected: "Int")))))

        #expect(throws: expected) { try ResponsePipeline().serializer(for: Int.self).value(of: Self.raw("1")) }
    }
}
