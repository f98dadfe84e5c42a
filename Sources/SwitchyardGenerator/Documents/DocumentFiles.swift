import Foundation

/// The files of a document: the main file, and the files in its folder to which it refers.
final class DocumentFiles {
    /// The maximum number of files of one document.
    static let maximumFiles = 10_000

    private let folder: URL
    private let load: (URL) throws -> Data
    private var roots: [String: Place] = [:]
    private let limits: ReadingLimits

    /// The root value of the main file.
    let root: Place

    /// Reads the main file.
    ///
    /// - Parameters:
    ///   - url: The main file. The extension of its name determines whether it is parsed as JSON or as YAML. For any
    ///     other extension, the first character of the file determines it.
    ///   - limits: The limits of the parsers.
    ///   - load: A function that reads the bytes of a file.
    /// - Throws: ``GeneratorError`` if the file cannot be read.
    init(
        _ url: URL,
        limits: ReadingLimits = ReadingLimits(),
        load: @escaping (URL) throws -> Data = { try Data(contentsOf: $0) }
    ) throws(GeneratorError) {
        folder = url.deletingLastPathComponent()
        self.load = load
        self.limits = limits
        root = try Self.read(url, as: url.lastPathComponent, load, limits)
        roots[url.lastPathComponent] = root
    }

    /// Returns the value to which a reference points.
    ///
    /// - Throws: ``GeneratorError`` with the location of the reference, if its target does not exist, is on another
    ///   machine or is outside the folder.
    func target(of reference: String, at place: Place) throws(GeneratorError) -> Place {
        let parts = reference.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let path = String(parts.first ?? "")
        let file = path.isEmpty ? place.file : try filePath(path, at: place)
        var target = try root(of: file, at: place)
        for token in (parts.count > 1 ? String(parts[1]) : "").split(separator: "/") {
            guard let next = Self.step(from: target, to: String(token)) else {
                throw place.error("the reference \"\(reference)\" has no target")
            }
            target = next
        }
        return target
    }

    private static func step(from place: Place, to token: String) -> Place? {
        let name = (token.removingPercentEncoding ?? token).replacing("~1", with: "/").replacing("~0", with: "~")
        if place.node.list != nil {
            return Int(name).flatMap { place.elements.indices.contains($0) ? place.elements[$0] : nil }
        }
        return place[name]
    }

    /// Returns the path of a referenced file, relative to the folder of the main file.
    private func filePath(_ path: String, at place: Place) throws(GeneratorError) -> String {
        guard !path.contains("://") else {
            throw place.error("the reference to \"\(path)\" is invalid: must be a file in the document's folder")
        }
        var steps = place.file.split(separator: "/").dropLast().map(String.init)
        // The path is resolved as text, so symbolic links in the path of the folder do not matter.
        for step in (path.removingPercentEncoding ?? path).split(separator: "/") where step != "." {
            if step != ".." {
                steps.append(String(step))
            } else if steps.popLast() == nil {
                throw place.error("the reference to \"\(path)\" is outside the folder of the document")
            }
        }
        guard !path.hasPrefix("/"), !steps.isEmpty else {
            throw place.error("the reference to \"\(path)\" is outside the folder of the document")
        }
        return steps.joined(separator: "/")
    }

    private func root(of file: String, at place: Place) throws(GeneratorError) -> Place {
        if let root = roots[file] { return root }
        guard roots.count < Self.maximumFiles else {
            throw place.error("the document consists of more than \(Self.maximumFiles) files")
        }
        let url = folder.appendingPathComponent(file)
        guard FileManager.default.fileExists(atPath: url.path) else {
            throw place.error("the referenced file \"\(file)\" does not exist")
        }
        let root = try Self.read(url, as: file, load, limits)
        roots[file] = root
        return root
    }

    private static func read(
        _ url: URL,
        as name: String,
        _ load: (URL) throws -> Data,
        _ limits: ReadingLimits
    ) throws(GeneratorError) -> Place {
        let data: Data
        do {
            data = try load(url)
        } catch {
            let reason = url.isFolder ? "it is a folder" : error.localizedDescription
            throw GeneratorError("the file cannot be read: \(reason)", file: name)
        }
        guard data.count <= limits.bytes else {
            throw GeneratorError("the file has \(data.count) bytes: must have at most \(limits.bytes)", file: name)
        }
        do throws(ReadingError) {
            return Place(file: name, pointer: "", node: try node(of: ContiguousArray(data), named: name, limits))
        } catch {
            throw GeneratorError(error.message, file: name, line: error.line, column: error.column)
        }
    }

    private static func node(
        of bytes: ContiguousArray<UInt8>,
        named name: String,
        _ limits: ReadingLimits
    ) throws(ReadingError) -> Node {
        let first = bytes.first { !$0.isBlank && !$0.isLineEnd && $0 < 0x80 }
        let isJSON = name.hasSuffix(".json") || (!name.hasSuffix(".yaml") && !name.hasSuffix(".yml") && first == 0x7B)
        if isJSON {
            var reader = JSONReader(bytes, limits: limits)
            return try reader.document()
        }
        var reader = YAMLReader(bytes, limits: limits)
        return try reader.document()
    }
}

extension URL {
    /// Whether the URL is the location of an existing folder.
    fileprivate var isFolder: Bool { (try? resourceValues(forKeys: [.isDirectoryKey]))?.isDirectory == true }
}
