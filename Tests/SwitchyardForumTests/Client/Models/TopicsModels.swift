// Generated from forum.yaml: Forum, version 1, OpenAPI 3.1.0.
// Command: yard generate forum.yaml --name ForumClient
// Changes to this file are lost when it is generated again.

import Switchyard

/// A file that was attached to a topic.
struct Attachment: ObjectDecodable {
    let name: String
    /// The size of the received file in bytes.
    let bytes: Int

    static let fields = Fields(Self.init, "name bytes")
}

/// The headline at the top of the forum.
struct Headline: ObjectDecodable {
    /// A number that increases with every response.
    let edition: Int
    let text: String

    static let fields = Fields(Self.init, "edition text")
}

struct ListTopicsResponse: ObjectDecodable {
    let code: Int
    let message: String
    let data: TopicList

    static let fields = Fields(Self.init, "code message data")
}

/// A topic of the forum.
struct Topic: ObjectDecodable {
    let id: Int
    let title: String
    /// The ID of the user who wrote the topic.
    let author: Int

    static let fields = Fields(Self.init, "id title author")
}

/// A page of topics.
struct TopicList: ObjectDecodable {
    let items: [Topic]
    /// The number of topics in the whole list.
    let total: Int

    static let fields = Fields(Self.init, "items total")
}

struct TopicsAttachToTopicBody: MultipartBody {
    var file: FilePart

    func add(to form: inout MultipartForm) throws(APIError) {
        form.add("file", files: [file])
    }
}

struct TopicsAttachToTopicResponse: ObjectDecodable {
    let code: Int
    let message: String
    let data: Attachment

    static let fields = Fields(Self.init, "code message data")
}

struct TopicsGetTopicResponse: ObjectDecodable {
    let code: Int
    let message: String
    let data: Topic

    static let fields = Fields(Self.init, "code message data")
}

struct TopicsReadHeadlineResponse: ObjectDecodable {
    let code: Int
    let message: String
    let data: Headline

    static let fields = Fields(Self.init, "code message data")
}
