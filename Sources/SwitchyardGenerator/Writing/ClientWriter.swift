/// Generates the files of a client from its plan.
struct ClientWriter {
    let plan: ClientPlan
    let graph: TypeGraph
    let options: GeneratorOptions
    /// The file name of the document.
    let document: String

    private var names: TypeNames { TypeNames(graph: graph) }
    /// The number of lines after which the next declaration goes into another file.
    private static let maximumLines = 1_500

    /// Returns the files, sorted by path.
    func files() -> [GeneratedFile] {
        var files: [GeneratedFile] = []
        var root = CodeLines()
        RootWriter(plan: plan, names: names, options: options).write(to: &root)
        files.append(file("\(plan.name).swift", root.lines))
        files.append(file("\(plan.name)Support.swift", Array(support.dropFirst())))
        files += managers + models
        for service in plan.services {
            if let text = ServiceWriter.text(service) {
                files.append(GeneratedFile(path: "Services/\(service.name).json", text: text))
            }
        }
        return files.sorted { $0.path < $1.path }
    }

    // MARK: - Files

    private func file(_ path: String, _ lines: [String]) -> GeneratedFile {
        var head = [
            "// Generated from \(document): \(plan.title.split(whereSeparator: \.isNewline).joined(separator: " ")), version \(plan.version), OpenAPI \(plan.openAPIVersion)."
        ]
        if !options.command.isEmpty { head.append("// Command: \(options.command)") }
        head.append("// Changes to this file are lost when it is generated again.")
        head.append("")
        let word = options.access == .public ? "public import" : "import"
        let code = lines.lazy.filter { !$0.trimmingBlanks.hasPrefix("//") }
        if code.contains(where: Self.namesFoundation) {
            head.append("\(word) Foundation")
        }
        let isModel = path.hasPrefix("Models/")
        let showsLibrary = !isModel || code.contains(where: Self.namesLibrary)
        head.append(showsLibrary ? "\(word) Switchyard" : "import Switchyard")
        return GeneratedFile(path: path, text: (head + [""] + lines).joined(separator: "\n") + "\n")
    }

    /// Returns whether a line of code contains the name of a Foundation type.
    private static func namesFoundation(_ line: String) -> Bool {
        // This search excludes most lines, and is many times faster than the regular expression below.
        guard ["Date", "Data", "URL", "JSONEncoder"].contains(where: line.contains) else { return false }
        return line.firstMatch(of: /\b(?:Date|Data|URL|JSONEncoder)\b/) != nil
    }

    /// Returns whether a line of code names a library type that properties of models can have.
    private static func namesLibrary(_ line: String) -> Bool {
        guard line.contains("JSONValue") || line.contains("MultipartForm") else { return false }
        return line.firstMatch(of: /\b(?:JSONValue|MultipartForm)\b/) != nil
    }

    private var support: [String] {
        var use = SupportFile.Use()
        for declaration in graph.used {
            use.hasDecoding = true
            switch declaration.kind {
            case .openEnum: use.hasEnums = true
            case .union: use.hasUnions = true
            case .structure(let properties, _):
                use.hasBoxes = use.hasBoxes || properties.contains(where: \.isBoxed)
                use.hasParts = use.hasParts || declaration.isMultipart
                use.hasEncoding = use.hasEncoding || declaration.isEncoded
            case .pending: break
            }
        }
        let methods = plan.managers.flatMap(\.methods)
        for method in methods {
            if case .form? = method.body?.kind { use.hasForms = true }
            if case .multipart? = method.body?.kind { use.hasParts = true }
            use.hasLists = use.hasLists || method.list != nil
            use.hasCookies = use.hasCookies || method.parameters.contains { $0.location == .cookie }
        }
        use.hasDays = usesDays(methods)
        use.hasDecoding = use.hasDecoding || use.hasDays
        let lines = SupportFile.code(use)
        return options.access == .internal ? lines : SupportFile.lines(lines, access: options.access)
    }

    private func usesDays(_ methods: [Method]) -> Bool {
        func isDay(_ type: SwiftType) -> Bool {
            switch type {
            case .day: true
            case .list(let element), .dictionary(let element), .optional(let element): isDay(element)
            default: false
            }
        }
        let types = graph.used.flatMap(\.parts) + methods.flatMap { $0.parameters.map(\.type) }
        let results = methods.compactMap { if case .value(let type, _) = $0.result { type } else { nil } }
        return (types + results + methods.compactMap { $0.body?.type }).contains(where: isDay)
    }

    // MARK: - Managers

    private var managers: [GeneratedFile] {
        let writer = ManagerWriter(plan: plan, names: names, options: options)
        var files: [GeneratedFile] = []
        for manager in plan.managers {
            for (index, methods) in parts(manager.methods, writer).enumerated() {
                var code = CodeLines()
                if index == 0 {
                    writer.writeHead(manager, methods, to: &code)
                } else {
                    writer.writeExtension(manager, methods, to: &code)
                }
                let name = index == 0 ? manager.typeName : "\(manager.typeName)+\(index + 1)"
                files.append(file("Managers/\(name).swift", code.lines))
            }
        }
        return files
    }

    /// Splits the methods of a manager into groups.
    ///
    /// Each group fits into one file.
    private func parts(_ methods: [Method], _ writer: ManagerWriter) -> [[Method]] {
        var parts: [[Method]] = [[]]
        var count = 0
        for method in methods {
            var code = CodeLines()
            writer.write(method, to: &code)
            if count + code.lines.count > Self.maximumLines {
                parts.append([])
                count = 0
            }
            parts[parts.count - 1].append(method)
            count += code.lines.count
        }
        return parts
    }

    // MARK: - Models

    /// The files of the models.
    ///
    /// There is one group of files for each manager, and one group for types that several managers use.
    private var models: [GeneratedFile] {
        var groups: [String: [Declaration]] = [:]
        for declaration in graph.used {
            let user = declaration.users.count == 1 ? declaration.users.first ?? plan.name : plan.name
            groups[user, default: []].append(declaration)
        }
        let writer = ModelWriter(names: names, options: options, texts: PropertyTexts(graph.used))
        var files: [GeneratedFile] = []
        // The file of the shared models is named after the client, even if a manager has the same name.
        var bases = NameTable(reserved: [plan.name])
        for (user, declarations) in groups.sorted(by: { $0.key < $1.key }) {
            var parts: [[String]] = [[]]
            for declaration in declarations.sorted(by: { $0.name < $1.name }) {
                var code = CodeLines()
                writer.write(declaration, to: &code)
                if (parts.last?.count ?? 0) + code.lines.count > Self.maximumLines { parts.append([]) }
                let isFirst = parts[parts.count - 1].isEmpty
                parts[parts.count - 1] += (isFirst ? [] : [""]) + code.lines
            }
            let base = user == plan.name ? user : bases.unique(user.hasSuffix("API") ? String(user.dropLast(3)) : user)
            for (index, lines) in parts.enumerated() where !lines.isEmpty {
                files.append(file("Models/\(base)Models\(index == 0 ? "" : "+\(index + 1)").swift", lines))
            }
        }
        return files
    }
}

/// A generated file that has not been written to the disk.
public struct GeneratedFile: Sendable, Hashable {
    /// The path of the file, relative to the output folder.
    public var path: String
    /// The contents of the file.
    public var text: String
}

extension SupportFile {
    /// Returns the lines with the access level added to the declarations that an app uses.
    static func lines(_ lines: [String], access: GeneratorOptions.Access) -> [String] {
        let shown = [
            "protocol OpenEnum", "extension OpenEnum", "struct CalendarDay", "struct PagedList", "enum FilePart",
            "protocol MultipartBody", "@propertyWrapper struct Indirect", "extension Indirect",
            "protocol ObjectDecodable", "extension ObjectDecodable", "struct Fields<", "struct FieldReader",
            "protocol FieldValue", "extension FieldValue", "extension Optional", "extension Date: FieldValue",
            "extension Dictionary", "struct FieldName", "struct Words", "protocol ObjectEncodable",
            "extension ObjectEncodable", "typealias FieldValues", "typealias ObjectCodable", "protocol DecodableUnion",
            "extension DecodableUnion", "struct UnionCase", "protocol EncodableUnion", "extension EncodableUnion",
        ]
        var isShown = false
        var isProtocol = false
        return lines.map { line in
            if !line.hasPrefix(" "), !line.isEmpty, !line.hasPrefix("/") {
                isShown = shown.contains { line.hasPrefix($0) }
                isProtocol = line.hasPrefix("protocol")
                if isShown, !line.hasPrefix("extension"), line != "}" {
                    return line.replacing(#/(protocol|struct|enum|typealias) /#, maxReplacements: 1) {
                        "\(access.rawValue) \($0.1) "
                    }
                }
                return line
            }
            guard isShown, !isProtocol, line.hasPrefix("    "), !line.hasPrefix("     "),
                let word = line.split(separator: " ").first(where: { !$0.hasPrefix("@") }),
                ["let", "var", "init(", "init", "func", "static", "mutating"].contains(where: {
                    word == $0 || word.hasPrefix("init(") || word.hasPrefix("init?(") || word.hasPrefix("init<")
                }),
                !line.contains("private ")
            else { return line }
            if line.hasPrefix("    @discardableResult ") {
                return line.replacing("    @discardableResult ", with: "    @discardableResult \(access.rawValue) ")
            }
            return "    \(access.rawValue) " + line.dropFirst(4)
        }
    }
}
